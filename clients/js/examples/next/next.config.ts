import { join } from "node:path";
import type { NextConfig } from "next";

export default {
  // The examples share their content and style.
  turbopack: { root: join(import.meta.dirname, "..") },
  redirects: async () => [{ source: "/", destination: "/en", permanent: false }],
  // Strapi's panel may frame pages, for its preview.
  headers: async () => [
    {
      source: "/:path*",
      headers: [{ key: "content-security-policy", value: `frame-ancestors 'self' ${process.env.STRAPI_URL ?? ""}` }],
    },
  ],
} satisfies NextConfig;
