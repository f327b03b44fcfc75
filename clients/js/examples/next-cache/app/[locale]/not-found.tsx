"use client";

import { useParams } from "next/navigation";
import { Missing } from "@/components/missing";

export default function NotFound() {
  return <Missing locale={useParams<{ locale: string }>().locale} />;
}
