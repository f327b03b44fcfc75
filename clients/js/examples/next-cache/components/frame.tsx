import type { DocumentPage, PageOutside } from "frontend-map-client";
import Link from "next/link";
import type { ReactNode } from "react";
import { label, languages } from "../../shared/texts";

type Props = { page: DocumentPage | PageOutside; type: string; title: string; children: ReactNode };

// #region frame
// components/frame.tsx: breadcrumbs and language switch
export function Frame({ page, type, title, children }: Props) {
  return (
    <main data-type={type}>
      <nav className="breadcrumbs" aria-label="Breadcrumbs">
        <ol>
          {page.breadcrumbs.map(({ path }) => (
            <li key={path}><Link prefetch={false} href={path}>{label(path)}</Link></li>
          ))}
        </ol>
      </nav>
      <h1>{title}</h1>
      {children}
      <nav className="muted" aria-label="Languages">
        {languages(page.alternates).map(({ code, url, name }) => (
          <a key={code} href={url} hrefLang={code} aria-current={code === page.locale ? "true" : undefined}>{name}</a>
        ))}
      </nav>
    </main>
  );
}
// #endregion frame
