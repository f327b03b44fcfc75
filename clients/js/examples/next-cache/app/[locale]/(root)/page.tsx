// app/[locale]/(root)/page.tsx: the root of a locale, as any other page
import { staticParams } from "frontend-map-client/next";
import { map } from "@/lib/map";

export { default, generateMetadata } from "../[...path]/page";
export const ensureStatic = "navigation";
export const generateStaticParams = staticParams(map, "/{locale}");
