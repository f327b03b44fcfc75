/** A URL as people read it: decoded, except for what is invisible or changes the direction of text. */
export const decoded = (url: string): string => {
  try {
    return decodeURI(url).replace(/[\p{C}\p{Z}]/gu, encodeURIComponent);
  } catch {
    return url;
  }
};
