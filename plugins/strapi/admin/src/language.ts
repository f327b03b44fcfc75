import { useIntl } from 'react-intl';

/** The name of a locale in a language, with its code where it has no name. */
export const languageName = (locale: string, language: string): string => {
  try {
    const names = new Intl.DisplayNames([language], { type: 'language' });
    return names.of(locale.replaceAll('_', '-')) ?? locale;
  } catch {
    return locale;
  }
};

/** Names of locales in the language of the admin. */
export const useLanguageName = (): ((locale: string) => string) => {
  const { locale: language } = useIntl();
  return (locale) => languageName(locale, language);
};
