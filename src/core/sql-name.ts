// Which names may become part of SQL.
const SQL_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** Whether a text may name a table or a schema in every database: without a character that would have to be escaped. */
export function isSqlName(name: string): boolean {
  return SQL_NAME.test(name);
}
