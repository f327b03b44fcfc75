export const PLUGIN_ID = 'frontend-map';
