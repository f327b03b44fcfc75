export default defineNuxtConfig({
  compatibilityDate: "2026-11-01",
  css: ["~/../../shared/style.css"],
  routeRules: { "/": { redirect: { to: "/en", statusCode: 302 } } },
});
