// #region robots
// app/robots.ts: the site's own, with the line of the service
import type { MetadataRoute } from "next";

export default function robots(): MetadataRoute.Robots {
  const sitemap = `${process.env.SITE_URL}/sitemaps/index.xml`;
  return { rules: { userAgent: "*", disallow: "/search" }, sitemap };
}
// #endregion robots
