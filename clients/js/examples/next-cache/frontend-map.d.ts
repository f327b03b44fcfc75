// Written by `frontend-map types`. Do not edit it: run the command again when the settings change.
import "frontend-map-client";

declare module "frontend-map-client" {
  interface Sites {
    main: {
      locales: "de" | "en";
      pages: "articles" | "home";
      contentTypes: {
        "api::article.article": {
          "/{locale}/articles/{slug}": { locale: Sites["main"]["locales"]; slug: string };
        };
        "api::page.page": {
          "/{locale}/{slug}": { locale: Sites["main"]["locales"]; slug: string };
        };
      };
    };
  }
}
