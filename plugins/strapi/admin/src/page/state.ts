import { useSearchParams } from 'react-router-dom';

/** What of the address bar a request for a table has, by the names that Strapi's lists have. */
const CHOICE = ['kind', 'contentType', 'locale', 'cause', 'view', '_q', 'sort', 'page', 'pageSize'] as const;

export type ChoiceName = (typeof CHOICE)[number];

/** The state of the page is in the address bar, so that a link leads to it and *Back* works. */
export const usePageState = () => {
  const [query, setQuery] = useSearchParams();
  const of = (name: string): string => query.get(name) ?? '';
  return {
    of,
    /** Another choice begins on its first page. */
    choose(change: Partial<Record<ChoiceName, string>>): void {
      const next = new URLSearchParams(query);
      next.delete('page');
      for (const [name, value] of Object.entries(change)) {
        if (value) next.set(name, value);
        else next.delete(name);
      }
      setQuery(next);
    },
    /** Another tab or site begins without a choice. */
    open(change: { site?: string; tab?: string; check?: string }): void {
      const kept = { site: of('site'), tab: of('tab'), ...change };
      setQuery(Object.entries(kept).filter(([, value]) => value));
    },
    /** The path of a table. */
    path(route: string, site: string): string {
      const given = CHOICE.map((name) => [name, of(name)]).filter(([, value]) => value);
      return `${route}?${new URLSearchParams([['site', site], ...given] as string[][])}`;
    },
  };
};

export type PageState = ReturnType<typeof usePageState>;
