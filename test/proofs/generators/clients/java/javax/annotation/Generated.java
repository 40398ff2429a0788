package javax.annotation;

/** Generated code is marked with it, and Java has not had it since version 11. Your build takes it from javax.annotation-api. */
public @interface Generated {
  String value();
}
