// src/lib/preview.ts: which visitors see drafts
import { createHmac, timingSafeEqual } from "node:crypto";
import type { AstroCookies } from "astro";

const SECRET = process.env.PREVIEW_SECRET;
const COOKIE = "preview";

const hash = (text: string) => createHmac("sha256", SECRET ?? "").update(text).digest();
const pass = hash("preview").toString("hex");

const equals = (given: string, expected: string) => Boolean(SECRET) && timingSafeEqual(hash(given), hash(expected));

export const isSecret = (given: string) => equals(given, SECRET ?? "");
export const seesDrafts = ({ cookies }: { cookies: AstroCookies }) => equals(cookies.get(COOKIE)?.value ?? "", pass);
export const begin = (cookies: AstroCookies) => cookies.set(COOKIE, pass, { httpOnly: true, path: "/", sameSite: "lax" });
export const end = (cookies: AstroCookies) => cookies.delete(COOKIE, { path: "/" });
