/** The part of a version that its page in the content manager is found by. */
interface Version {
  contentType: string;
  documentId: string;
  locale: string;
}

/** The page of an entry. A locale that the type does not have is ignored there. */
export const entryLink = ({ contentType, documentId, locale }: Version, isSingle: boolean): string => {
  const path = isSingle ? `single-types/${contentType}` : `collection-types/${contentType}/${documentId}`;
  return `/content-manager/${path}${locale && `?plugins[i18n][locale]=${encodeURIComponent(locale)}`}`;
};
