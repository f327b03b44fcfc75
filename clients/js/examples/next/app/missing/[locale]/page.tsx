// app/missing/[locale]/page.tsx: what the proxy shows with a status of 404
import { Missing } from "@/components/missing";
import { texts } from "../../../../shared/texts";

type Props = { params: Promise<{ locale: string }> };

export const generateStaticParams = () => [{ locale: "en" }, { locale: "de" }];
export const generateMetadata = async ({ params }: Props) => ({ title: texts((await params).locale).missing });

export default async function Page({ params }: Props) {
  return <Missing locale={(await params).locale} />;
}
