import library from "express-openapi-validator/dist/framework/openapi.schema.validator.js";

/**
 * Stands for the part of the request validator that validates a document itself. The library compiles the schema of OpenAPI for
 * it even where it is told to validate no document, which takes a tenth of a start, for each document again.
 */
class ValidatesNothing {
  validate(): { errors: [] } {
    return { errors: [] };
  }
}

Object.assign(library, { OpenAPISchemaValidator: ValidatesNothing });
