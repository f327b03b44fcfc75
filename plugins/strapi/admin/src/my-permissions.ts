/** The parts of Strapi's store that are read here. */
interface State {
  adminApi?: { queries?: Record<string, { data?: unknown } | undefined> };
}

/**
 * Whether the admin has an action. For hooks outside of components, where `useRBAC` does not work:
 * Strapi keeps the response to its own request for the permissions in its store.
 */
export const hasAction = (state: unknown, action: string): boolean => {
  const queries = (state as State | undefined)?.adminApi?.queries ?? {};
  const key = Object.keys(queries).find((name) => name.startsWith('getMyPermissions'));
  const permissions = key && queries[key]?.data;
  return Array.isArray(permissions) && permissions.some((permission) => permission?.action === action);
};
