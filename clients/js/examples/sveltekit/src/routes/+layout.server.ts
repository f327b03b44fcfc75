// src/routes/+layout.server.ts: the language, also of the error page
import type { LayoutServerLoad } from "./$types";

export const load: LayoutServerLoad = ({ locals: { locale } }) => ({ locale });
