import Link from "next/link";
import { texts } from "../../shared/texts";

export function Missing({ locale = "en" }: { locale?: string }) {
  const { language, missing, back } = texts(locale);
  return (
    <main>
      <h1>{missing}</h1>
      <p><Link prefetch={false} href={`/${language}`}>{back}</Link></p>
    </main>
  );
}
