/** The plugin's own actions. Strapi grants new ones to the super admin alone. */
export const ACTIONS = {
  readUrl: 'plugin::frontend-map.read-url',
  readReport: 'plugin::frontend-map.read-report',
  runCheck: 'plugin::frontend-map.run-check',
  clearMisses: 'plugin::frontend-map.clear-misses',
  manageSettings: 'plugin::frontend-map.manage-settings',
} as const;

export type Action = (typeof ACTIONS)[keyof typeof ACTIONS];

const action = (uid: string, displayName: string) => ({
  section: 'plugins',
  pluginName: 'frontend-map',
  uid,
  displayName,
});

export const REGISTERED = [
  action('read-url', 'See the URLs of documents'),
  action('read-report', 'See problems and reports'),
  action('run-check', 'Run URL checks'),
  action('clear-misses', 'Clear paths that were not found'),
  action('manage-settings', 'Change the settings'),
];
