import { Missing } from "@/components/missing";

type Props = { params: Promise<{ locale: string }> };

export const generateStaticParams = () => [{ locale: "en" }, { locale: "de" }];

/** What the proxy shows with a status of 404. */
export default async function NotFound({ params }: Props) {
  return <Missing locale={(await params).locale} />;
}
