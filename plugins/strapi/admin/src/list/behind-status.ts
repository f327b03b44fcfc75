/**
 * Strapi adds *Status* to what `map` returns for the columns, by `push`. So the new column takes the last
 * place again after each `push`.
 */
export const behindStatus = <T>(columns: T[], last: T): T[] => {
  const list = [...columns, last];
  list.map = <U>(each: (column: T, at: number, all: T[]) => U): U[] => {
    const mapped = Array.from(list, (column, at) => each(column, at, list));
    mapped.push = (...added) => {
      mapped.splice(mapped.length - 1, 0, ...added);
      return mapped.length;
    };
    return mapped;
  };
  return list;
};
