import { getFetchClient } from '@strapi/strapi/admin';
import * as React from 'react';
import type { ContentType } from '../../../shared/problems';

interface Init {
  data: {
    contentTypes: { uid: string; isDisplayed: boolean; info: { displayName: string } }[];
  };
}

/** The content types that Strapi's content manager shows. */
export const useContentTypes = (): ContentType[] => {
  const [types, setTypes] = React.useState<ContentType[]>([]);
  React.useEffect(() => {
    const abort = new AbortController();
    getFetchClient()
      .get<Init>('/content-manager/init', { signal: abort.signal })
      .then(({ data }) => {
        const shown = data.data.contentTypes.filter(({ isDisplayed }) => isDisplayed);
        const named = shown.map(({ uid, info }) => ({ uid, name: info.displayName }));
        setTypes(named.sort((one, other) => one.name.localeCompare(other.name)));
      })
      // Without names, the content types are shown by their UIDs.
      .catch(() => undefined);
    return () => abort.abort();
  }, []);
  return types;
};

export const nameOf = (types: ContentType[], uid: string): string =>
  types.find((type) => type.uid === uid)?.name ?? uid;
