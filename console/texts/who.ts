export const whoTexts = {
  explain: 'Decisions are kept with this name. It is a claim: nobody checks it here.',
  name: 'Your name',
  roles: 'Your roles',
  rolesHint: 'Separated by commas, such as finance, on-call. Policies ask for roles.',
  tenant: 'Tenant',
  noRoles: 'none',
  proof: 'Proven by',
  logOut: 'Log out',
} as const;
