import type { StrapiApp } from '@strapi/strapi/admin';
import { UrlPanel } from './panel/panel';
import { PLUGIN_ID } from './plugin-id';

/** The parts of Strapi's content manager that plugins may extend. */
interface ContentManager {
  addEditViewSidePanel(panels: unknown[]): void;
}

const prefixed = (texts: Record<string, string>) =>
  Object.fromEntries(Object.entries(texts).map(([id, text]) => [`${PLUGIN_ID}.${id}`, text]));

/** Languages without a translation fall back to English. */
const LANGUAGES: Record<string, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import('./translations/en.json'),
  de: () => import('./translations/de.json'),
};

export default {
  register(app: StrapiApp) {
    app.registerPlugin({ id: PLUGIN_ID, name: PLUGIN_ID });
  },

  bootstrap(app: StrapiApp) {
    const contentManager = app.getPlugin('content-manager').apis as unknown as ContentManager;
    contentManager.addEditViewSidePanel([UrlPanel]);
  },

  registerTrads({ locales }: { locales: string[] }) {
    return Promise.all(
      locales.map(async (locale) => {
        const texts = await (LANGUAGES[locale] ?? LANGUAGES.en)?.();
        return { locale, data: prefixed(texts?.default ?? {}) };
      }),
    );
  },
};
