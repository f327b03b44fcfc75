/** What the sites say in each language beside their content. */
const TEXTS = {
  en: {
    language: "en",
    start: "Home",
    home: "Every link leads somewhere",
    welcome: "The pages of this site come from a CMS; frontend-map knows which one is behind each path.",
    articles: "Articles",
    draft: "You see drafts.",
    leave: "Leave the preview",
    missing: "There is no such page",
    back: "To the home page",
    later: "This page is not available at the moment",
  },
  de: {
    language: "de",
    start: "Start",
    home: "Jeder Link führt zum Ziel",
    welcome: "Die Seiten dieser Website kommen aus einem CMS; frontend-map weiß, welche hinter jedem Pfad steht.",
    articles: "Artikel",
    draft: "Sie sehen Entwürfe.",
    leave: "Vorschau verlassen",
    missing: "Diese Seite gibt es nicht",
    back: "Zur Startseite",
    later: "Diese Seite ist zurzeit nicht erreichbar",
  },
};

export const texts = (locale: string) => TEXTS[locale === "de" ? "de" : "en"];

/** The language of a path that has no page. */
export const textsAt = (pathname: string) => texts(pathname.split("/", 2)[1] ?? "");

/** The last segment of a path, readable. */
export function label(path: string): string {
  const segment = decodeURIComponent(path.split("/").at(-1) ?? "").replaceAll("-", " ");
  return segment.length === 2 ? texts(segment).start : segment.charAt(0).toUpperCase() + segment.slice(1);
}

/** The versions of a page in all languages. */
export const languages = (alternates: Record<string, string>) =>
  Object.entries(alternates)
    .filter(([code]) => code !== "x-default")
    .map(([code, url]) => ({ code, url, name: new Intl.DisplayNames(code, { type: "language" }).of(code) ?? code }));
