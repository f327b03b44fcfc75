/** From the path of a page to the params of a frontend's own route. */

/** The params of a route: a text for `{name}`, a list for `{*name}` and `{*name?}`. */
export type StaticParams<Template extends string> = string extends Template
  ? Record<string, string | string[]>
  : Template extends `${string}{${infer Name}}${infer Rest}`
    ? ParamOf<Name> & StaticParams<Rest>
    : unknown;
type ParamOf<Name extends string> = Name extends `*${infer Rest}?`
  ? Record<Rest, string[]>
  : Name extends `*${infer Rest}`
    ? Record<Rest, string[]>
    : Record<Name, string>;

/** The decoded params of a path; null if the route does not have it. */
export type RouteMatch = (path: string) => Record<string, string | string[]> | null;

/**
 * Reads a route: segments are a text, `{name}`, and as the last one `{*name}` for one or more
 * segments or `{*name?}` for any number.
 *
 * @throws TypeError if it is none.
 */
export function route(template: string): RouteMatch {
  const segments = segmentsOf(template).map((segment) => {
    const [, star, name, optional] = /^\{(\*?)(\w+)(\??)\}$/.exec(segment) ?? [];
    return { text: segment, name, catchAll: star === "*", optional: optional === "?" };
  });
  const last = segments.at(-1);
  const wrong = segments.some(({ text, name, catchAll, optional }, at) => {
    if (name === undefined) return /[{}]/.test(text);
    return catchAll ? at < segments.length - 1 : optional;
  });
  if (!template.startsWith("/") || wrong) throw new TypeError(`${template} is not the template of a route`);
  const tail = last?.catchAll ? segments.pop() : undefined;
  const fewest = segments.length + (tail && !tail.optional ? 1 : 0);

  return (path) => {
    const values = segmentsOf(path).map(decodeURIComponent);
    if (values.length < fewest || (!tail && values.length > fewest)) return null;
    const params: Record<string, string | string[]> = {};
    for (const [at, { text, name }] of segments.entries()) {
      const value = values[at] as string;
      if (name === undefined && text !== value) return null;
      if (name !== undefined) params[name] = value;
    }
    if (tail?.name !== undefined) params[tail.name] = values.slice(segments.length);
    return params;
  };
}

/** Without the slash at the end that some sites have. */
function segmentsOf(path: string): string[] {
  return path.split("/").slice(1).filter((segment, at, all) => segment !== "" || at < all.length - 1);
}
