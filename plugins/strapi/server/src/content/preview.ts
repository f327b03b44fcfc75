interface PreviewSettings {
  enabled?: boolean;
  config?: { handler?: unknown };
}

/** Whether Strapi's preview is set up: `preview` of config/admin, of which early versions of Strapi 5 check less. */
export const previewIsOn = (preview: unknown): boolean => {
  const { enabled, config } = (preview ?? {}) as PreviewSettings;
  return enabled !== false && typeof config?.handler === 'function';
};
