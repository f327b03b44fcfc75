import { Box, Typography } from '@strapi/design-system';
import { OwnerLink } from '../owner';
import { useText } from '../texts';
import { UrlText } from '../url-text';
import { Warning } from '../warning';
import type { BeforeNote } from './before-notes';

/** What the next click would do. It disables nothing. */
export const BeforeView = ({ title, notes }: { title: string; notes: BeforeNote[] }) => {
  if (!notes.length) return null;
  return (
    <Box data-frontend-map="before">
      <Typography variant="sigma" textColor="neutral600" tag="h3">
        {title}
      </Typography>
      <Box tag="ul">
        {notes.map((note) => (
          <Box tag="li" key={note.text} paddingTop={1}>
            <Note note={note} />
          </Box>
        ))}
      </Box>
    </Box>
  );
};

const Note = ({ note: { text: id, values, owner, moving = [], isWarning } }: { note: BeforeNote }) => {
  const text = useText();
  return (
    <>
      {isWarning ? (
        <Warning>{text(id, values)}</Warning>
      ) : (
        <Typography tag="p">{text(id, values)}</Typography>
      )}
      {owner && <OwnerLink owner={owner} />}
      {moving.length > 0 && (
        <Box tag="ul" data-frontend-map="moving">
          {moving.map(({ from, to }) => (
            <Box tag="li" key={from} paddingTop={1}>
              <UrlText url={from} />
              <Box>
                <Typography aria-hidden>→ </Typography>
                <UrlText url={to} />
              </Box>
            </Box>
          ))}
        </Box>
      )}
    </>
  );
};
