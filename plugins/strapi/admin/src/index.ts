import type { StrapiApp } from '@strapi/strapi/admin';
import { OpenAction } from './list/action';
import { addColumn, type Table } from './list/column';
import { hasAction } from './my-permissions';
import { UrlPanel } from './panel/panel';
import { hasRule, lastParts, requestParts } from './parts';
import { MANAGE_SETTINGS, READ_REPORT, READ_URL } from './permissions';
import { PLUGIN_ID } from './plugin-id';
import { FillRedirect } from './redirect/fill';
import { descriptor } from './texts';
import { Link } from '@strapi/icons';

/** The parts of Strapi's content manager that plugins may extend. */
interface ContentManager {
  addEditViewSidePanel(panels: unknown[]): void;
  addDocumentAction(actions: unknown[]): void;
  addDocumentHeaderAction(actions: unknown[]): void;
}

const prefixed = (texts: Record<string, string>) =>
  Object.fromEntries(Object.entries(texts).map(([id, text]) => [`${PLUGIN_ID}.${id}`, text]));

/** Languages without a translation fall back to English. */
const LANGUAGES: Record<string, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import('./translations/en.json'),
  de: () => import('./translations/de.json'),
};

// Strapi passes the app with its store to `register` alone; the store is created later.
let registered: StrapiApp | undefined;

export default {
  register(app: StrapiApp) {
    registered = app;
    app.registerPlugin({ id: PLUGIN_ID, name: PLUGIN_ID });
    app.addMenuLink({
      to: `plugins/${PLUGIN_ID}`,
      icon: Link,
      intlLabel: descriptor('plugin.name'),
      permissions: READ_REPORT,
      Component: () => import('./page/page'),
    });
    // Since Strapi 5.13.
    app.widgets?.register({
      id: 'problems',
      pluginId: PLUGIN_ID,
      icon: Link,
      title: descriptor('widget.title'),
      link: { label: descriptor('widget.link'), href: `/plugins/${PLUGIN_ID}` },
      permissions: READ_REPORT,
      component: async () => (await import('./home/widget')).ProblemsWidget,
    });
  },

  bootstrap(app: StrapiApp) {
    const contentManager = app.getPlugin('content-manager').apis as unknown as ContentManager;
    contentManager.addEditViewSidePanel([UrlPanel]);
    contentManager.addDocumentAction([OpenAction]);
    contentManager.addDocumentHeaderAction([FillRedirect]);
    app.addSettingsLink('global', {
      id: PLUGIN_ID,
      to: PLUGIN_ID,
      intlLabel: descriptor('plugin.name'),
      permissions: MANAGE_SETTINGS,
      Component: () => import('./settings/page'),
    });
    app.registerHook('Admin/CM/pages/ListView/inject-column-in-table', (table: Table) => {
      if (!hasAction(registered?.store?.getState(), READ_URL[0]?.action ?? '')) return table;
      void requestParts();
      const parts = lastParts();
      // Strapi does not say here of which content type the list is.
      const [, uid = ''] = /\/collection-types\/([^/]+)/.exec(window.location.pathname) ?? [];
      return parts.column && hasRule(parts, uid) ? addColumn(table) : table;
    });
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
