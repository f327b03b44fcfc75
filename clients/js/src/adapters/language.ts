/** The language of a visitor. */

/**
 * The locale of a request: the first segment of its path, else the best one by `Accept-Language`
 * (RFC 9110, section 12.5.4), else the first. Empty without locales.
 */
export function languageOf(pathname: string, headers: Headers, locales: readonly string[]): string {
  const [, segment = ""] = pathname.split("/");
  if (locales.includes(segment)) return segment;
  const wanted = (headers.get("accept-language") ?? "").split(",").map((range) => {
    const [tag = "", weight] = range.trim().toLowerCase().split(/\s*;\s*q=/);
    return { tag, weight: weight === undefined ? 1 : Number(weight) };
  });
  const usable = wanted.filter(({ tag, weight }) => tag !== "" && weight > 0).sort((a, b) => b.weight - a.weight);
  for (const { tag } of usable) {
    const exact = locales.find((locale) => locale.toLowerCase().replace("_", "-") === tag);
    const found = exact ?? locales.find((locale) => languageIn(locale) === languageIn(tag));
    if (found !== undefined) return found;
  }
  return locales[0] ?? "";
}

const languageIn = (tag: string) => tag.toLowerCase().split(/[-_]/, 1)[0];
