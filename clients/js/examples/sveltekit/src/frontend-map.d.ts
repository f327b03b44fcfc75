import "frontend-map-client";

declare module "frontend-map-client" {
  interface Sites {
    main: {
      locales: "en" | "de";
      contentTypes: {
        "api::article.article": { locale: string; slug: string };
        "api::page.page": { locale: string; slug: string };
      };
    };
  }
}
