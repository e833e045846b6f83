/** The part of `langchain` that the judge makes: the package is a peer, and the compiler looks here. */
export declare const AIMessage: new (fields: object) => object;
