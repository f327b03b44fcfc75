import { useForm, useQueryParams } from '@strapi/strapi/admin';
import * as React from 'react';
import { useSites } from '../api/use-sites';
import { changesOf, PARAMETER, valuesIn } from './link';

interface Props {
  /** The content type of the form. */
  model: string;
  documentId?: string;
}

/**
 * Fills the form of a new redirect with the values in the address, once for each form: what the editor
 * empties stays empty. An action of the header, because Strapi has these in the form on each screen; it
 * shows nothing. The service says which content type and fields are filled, and not the address.
 */
export const FillRedirect = ({ model, documentId }: Props): null => {
  const [{ query }] = useQueryParams<Record<string, unknown>>();
  const values = documentId ? null : valuesIn(query[PARAMETER]);
  const sites = useSites(values !== null);
  const form = useForm('FillRedirect', (state) => state);
  const type = sites?.map(({ redirects }) => redirects).find((redirects) => redirects?.uid === model);
  const isFilled = React.useRef(false);
  React.useEffect(() => {
    if (!type || !values || isFilled.current) return;
    isFilled.current = true;
    const present = form.values as Record<string, unknown>;
    for (const [field, value] of changesOf(type, values, present)) form.onChange(field, value);
  }, [type, values, form]);
  return null;
};
