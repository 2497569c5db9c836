/** The note of a layer for which a branch of a race has asked a person, who agreed. */
export const agreed = 'agreed';
