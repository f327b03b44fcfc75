import type { Core, UID } from '@strapi/strapi';

interface Configuration {
  metadatas?: Record<string, { edit?: { label?: unknown } }>;
}

/** The name that the form of a content type shows for a field; the key itself without one. */
const labelOf = async (strapi: Core.Strapi, uid: string, field: string): Promise<string> => {
  const contentTypes = strapi.plugin('content-manager').service('content-types');
  const { metadatas } = (await contentTypes.findConfiguration({ uid })) as Configuration;
  const label = metadatas?.[field]?.edit?.label;
  return typeof label === 'string' && label ? label : field;
};

interface Attribute {
  type?: string;
  target?: string;
}

/** The keys at the beginning of a reason that are fields: `category` and `slug` of `category.slug_empty`. */
export const labelsOf = async (
  strapi: Core.Strapi,
  uid: string,
  reason: string,
): Promise<Record<string, string>> => {
  const labels: Record<string, string> = {};
  let type: string | undefined = uid;
  for (const part of reason.split(/[.:]/)) {
    const attributes = (strapi.contentTypes[type as UID.ContentType]?.attributes ?? {}) as Record<
      string,
      Attribute
    >;
    // The longest one: `meta_title` of `meta_title_missing`, where there is `meta` as well.
    const field = Object.keys(attributes)
      .filter((name) => part === name || part.startsWith(`${name}_`))
      .sort((one, other) => other.length - one.length)[0];
    if (!type || !field) break;
    labels[field] ??= await labelOf(strapi, type, field);
    type = attributes[field]?.target;
  }
  return labels;
};
