/** The site of the tests, as a frontend declares it. */
import "frontend-map-client";

declare module "frontend-map-client" {
  interface Sites {
    main: {
      locales: "en" | "de";
      pages: "home" | "search";
      contentTypes: {
        "api::article.article": { "/{locale}/articles/{slug}": { locale: string; slug: string } };
        "api::page.page": {
          "/{locale}/{*path}": { locale: string; path: string };
          "/{locale}/{section}/{slug?}": { locale: string; section: string; slug?: string };
        };
      };
    };
  }
}
