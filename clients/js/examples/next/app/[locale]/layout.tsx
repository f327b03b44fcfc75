import type { Metadata } from "next";
import { draftMode } from "next/headers";
import Link from "next/link";
import type { ReactNode } from "react";
import "../globals.css";
import "../../../shared/style.css";
import { texts } from "../../../shared/texts";

export const metadata: Metadata = { title: { template: "%s · Example", default: "Example" } };

type Props = { params: Promise<{ locale: string }>; children: ReactNode };

export default async function Layout({ params, children }: Props) {
  const { locale } = await params;
  const { isEnabled } = await draftMode();
  const { language, articles, draft, leave } = texts(locale);
  return (
    <html lang={language}>
      <body>
        {isEnabled && (
          <form className="notice" role="status" action={`${process.env.BASE_PATH ?? ""}/api/preview/exit`} method="post">
            {draft} <button>{leave}</button>
          </form>
        )}
        <header>
          <Link prefetch={false} className="brand" href={`/${language}`}>Example</Link>
          <Link prefetch={false} href={`/${language}/articles`}>{articles}</Link>
        </header>
        {children}
        <footer>frontend-map · Next.js</footer>
      </body>
    </html>
  );
}
