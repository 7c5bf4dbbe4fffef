export declare const bunEnv: Readonly<Record<string, string>>
