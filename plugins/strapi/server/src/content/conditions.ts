/**
 * The locales of `{$and: [{locale: {$in: […]}}]}`, the form that Strapi's i18n gives each permission;
 * null without such a condition, or with others beside it.
 */
const onlyLocales = (conditions: unknown): string[] | null => {
  const all = (conditions as { $and?: unknown[] }).$and;
  if (!Array.isArray(all) || all.length !== 1 || Object.keys(conditions as object).length !== 1) return null;
  const [{ locale, ...others }] = all as [{ locale?: { $in?: unknown } }];
  const list = locale?.$in;
  const isOnly = Array.isArray(list) && !Object.keys(others).length && Object.keys(locale ?? {}).length === 1;
  return isOnly ? list.map(String) : null;
};

/**
 * Whether the conditions of a permission exclude no document in these locales: there are none, or they
 * name all of them. The super admin, too, has the condition with all locales.
 */
export const excludesNothing = (conditions: unknown, locales: string[]): boolean => {
  if (conditions === undefined || conditions === null) return true;
  const named = onlyLocales(conditions);
  return named !== null && locales.every((locale) => named.includes(locale));
};
