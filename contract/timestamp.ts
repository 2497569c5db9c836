/**
 * A time as text, by ISO 8601 in UTC.
 * @format date-time
 */
export type Timestamp = string;
