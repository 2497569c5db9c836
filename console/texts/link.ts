export const linkTexts = {
  make: 'Make a link for somebody',
  explain: 'Whoever has the link decides this one question under the name below, without a login.',
  for: 'Name of the person',
  expires: 'How long the link works',
  expiresHint: 'A duration such as 12h or 3d. Empty: as the configuration says.',
  made: (name: string) => `A link for ${name}`,
  works: 'The link works until',
} as const;
