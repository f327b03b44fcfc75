/** The plugin's own actions, as `useRBAC` takes them: `canReadUrl`, `canReadReport` and so on. */
const permission = (action: string) => [{ action: `plugin::frontend-map.${action}`, subject: null }];

export const READ_URL = permission('read-url');
export const READ_REPORT = permission('read-report');
export const RUN_CHECK = permission('run-check');
export const CLEAR_MISSES = permission('clear-misses');
export const MANAGE_SETTINGS = permission('manage-settings');
