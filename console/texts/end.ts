export const endTexts = {
  cancel: {
    title: 'Cancel the run',
    mode: 'When',
    modes: {
      now: 'Now: calls are told to stop',
      'after-model': 'When the model has asked for tools',
      'after-tools': 'When tools have run',
    },
    reason: 'Why',
    reasonHint: 'Kept in the log of the run.',
    submit: 'Cancel the run',
    note: 'A cancelled run can be resumed.',
  },
  terminate: {
    title: 'Terminate the run',
    note: 'The run ends at once, without its code. Nothing is tidied up, and it cannot be resumed.',
    confirm: 'Type the id of the run to confirm.',
    submit: 'Terminate',
  },
} as const;
