export const sessionPicture = 'docs/pictures/session.svg';

export const sessionCommands: readonly string[] = [
  'npm start &',
  'npx holdfast run support "Refund order 42, it arrived broken" --id ticket-981',
  String.raw`kill -9 $(ls .holdfast | sed -n 's/^service-\([0-9]*\)\.json$/\1/p')`,
  'npm start > /dev/null &',
  'npx holdfast approve ticket-981 --by ada',
];
