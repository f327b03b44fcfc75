// app/[locale]/not-found/page.tsx
import { Missing } from "@/components/missing";

type Props = { params: Promise<{ locale: string }> };

export const generateStaticParams = () => [{ locale: "en" }, { locale: "de" }];

export default async function NotFound({ params }: Props) {
  return <Missing locale={(await params).locale} />;
}
