"""What does as well without steering: texts, other models, topics; facts and own knowledge."""
