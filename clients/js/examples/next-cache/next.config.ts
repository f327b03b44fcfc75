import { join } from "node:path";
import type { NextConfig } from "next";

const nextConfig: NextConfig = {
  basePath: process.env.BASE_PATH,
  cacheComponents: true,
  partialPrefetching: true,
  turbopack: {
    // The examples share their content and style.
    root: join(import.meta.dirname, ".."),
    rules: {
      "*.css": {
        loaders: ["@tailwindcss/turbopack"],
        as: "*.css",
      },
    },
  },
  // Strapi's panel may frame pages, for its preview.
  headers: async () => [
    {
      source: "/:path*",
      headers: [{ key: "content-security-policy", value: `frame-ancestors 'self' ${process.env.STRAPI_URL ?? ""}` }],
    },
  ],
};

export default nextConfig;
