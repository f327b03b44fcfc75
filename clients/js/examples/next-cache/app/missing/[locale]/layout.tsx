// app/missing/[locale]/layout.tsx: outside of app/[locale], where a document may have any path
export { default, metadata } from "../../[locale]/layout";
