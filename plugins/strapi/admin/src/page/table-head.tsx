import { Th, Thead, Tr, Typography } from '@strapi/design-system';
import { useText, type TextId } from '../texts';

/** The headings of a table. */
export const TableHead = ({ columns }: { columns: TextId[] }) => {
  const text = useText();
  return (
    <Thead>
      <Tr>
        {columns.map((id) => (
          <Th key={id}>
            <Typography variant="sigma">{text(id)}</Typography>
          </Th>
        ))}
      </Tr>
    </Thead>
  );
};
