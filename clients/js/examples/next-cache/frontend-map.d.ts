// Written by `frontend-map types`. Do not edit it: run the command again when the settings change.
import "frontend-map-client";

declare module "frontend-map-client" {
  interface Sites {
    main: {
      locales: "de" | "en";
      contentTypes: {
        "api::article.article": { locale: Sites["main"]["locales"]; slug: string };
        "api::page.page": { locale: Sites["main"]["locales"]; slug: string };
      };
    };
  }
}
