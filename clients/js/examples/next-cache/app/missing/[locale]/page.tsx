import { Missing } from "@/components/missing";
import { texts } from "../../../../shared/texts";

type Props = { params: Promise<{ locale: string }> };

export const ensureStatic = "navigation";
export const generateStaticParams = () => [{ locale: "en" }, { locale: "de" }];
// #region missing
// app/missing/[locale]/page.tsx: at its own path, the page has a status of 200
export const generateMetadata = async ({ params }: Props) => ({
  title: texts((await params).locale).missing,
  robots: "noindex",
});
// #endregion missing

export default async function Page({ params }: Props) {
  return <Missing locale={(await params).locale} />;
}
